// A plugin of TypeDoc: modules have the names by which applications import them.
import { Converter } from 'typedoc';

export function load({ converter }) {
  converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, declaration) => {
    if (declaration.parent?.isProject()) declaration.name = importedAs(declaration.name);
  });
}

function importedAs(name) {
  return name
    .replace(/^packages\/([^/]+)\/src/, '@nestjs-bloom/$1')
    .replace(/^src/, 'nestjs-bloom')
    .replace(/-entry$/, '');
}
