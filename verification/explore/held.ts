export function remove<Item>(items: Item[], item: Item): void {
  const place = items.indexOf(item);
  if (place >= 0) items.splice(place, 1);
}
