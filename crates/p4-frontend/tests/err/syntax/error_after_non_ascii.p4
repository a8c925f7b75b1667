/* größer */ const string s = "⟶ größer"; const bit<8> a = ;
	const bit<8> b = ;
