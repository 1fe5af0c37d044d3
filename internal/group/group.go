// Package group divides a list by what its members have in common. It keeps their order.
package group

// By returns the members of a list that have the same key, in the order of the first of each.
func By[T any, K comparable](list []T, keyOf func(T) K) (all [][]T) {
	at := map[K]int{}
	for _, one := range list {
		k := keyOf(one)
		i, ok := at[k]
		if !ok {
			i = len(all)
			at[k], all = i, append(all, nil)
		}
		all[i] = append(all[i], one)
	}
	return all
}
