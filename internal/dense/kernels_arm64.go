package dense

// wide reports that AdvSIMD kernels can be used: all arm64 processors have it.
const wide = true
