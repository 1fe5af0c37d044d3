package pipeline

// item is a value, or the error in its place.
type item[T any] struct {
	value T
	err   error
}
