package dense

func setWidth(w, more bool) { wide, wider = w, more }
