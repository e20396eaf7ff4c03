import { generateCatalogue } from './catalogue.generator.js';
import type { Catalogue } from './catalogue.js';
import { readCatalogueCsv } from './catalogue-csv.reader.js';

/** @throws {CatalogueFileError} */
export async function readCatalogue(options: {
  file: string | undefined;
  generatedProducts: number;
}): Promise<Catalogue> {
  return options.file ? readCatalogueCsv(options.file) : generateCatalogue(options.generatedProducts);
}
