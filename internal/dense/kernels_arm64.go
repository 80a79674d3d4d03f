package dense

// wide is AdvSIMD, which all processors have.
const wide = true
