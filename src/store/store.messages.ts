export const notRecordedIn = (
  { name, key }: { readonly name: string; readonly key?: string },
  state: string,
) =>
  `Filter '${name}'${key === undefined ? '' : ` on key '${key}'`} is ${state} and has no source: the id was not recorded. ` +
  (state === 'unbuilt'
    ? "Create it with reset(), once, then add the id again. With create: 'first-start' the first process creates it."
    : 'The ids that it held are not known any more. Empty it with reset(), then add every id that it must know.');
