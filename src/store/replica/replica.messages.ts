export const noRoomForCopy = (bytes: number, maxBytes: number) =>
  `There is no room for a local copy of ${bytes} bytes beside those of the other filters (copies.maxBytes is ${maxBytes}): lookups of ids ` +
  "that exist ask Redis. Raise copies.maxBytes, or set replica: 'off' where a copy is of least use.";
