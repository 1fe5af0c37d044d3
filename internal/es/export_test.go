package es

// ReadBulk reads the answer to a bulk request.
var ReadBulk = readBulk
