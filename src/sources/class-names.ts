/** By the names of its classes: of a library that is there twice, as an ES module and as CommonJS, the classes differ. */
export function isOfClass(object: object, ...names: readonly string[]): boolean {
  for (let made: object | null = object; made; made = Object.getPrototypeOf(made) as object | null)
    if (names.includes(made.constructor.name)) return true;
  return false;
}
