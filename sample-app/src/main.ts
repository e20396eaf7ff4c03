import { ConsoleLogger } from '@nestjs/common';
import { readCatalogue } from './catalogue/read-catalogue.js';
import { readShopConfig } from './shop.config.js';
import { startShop } from './start-shop.js';

const catalogue = await readCatalogue({ file: process.env['CATALOG'], generatedProducts: 50_000 });
const app = await startShop({
  config: { ...readShopConfig(process.env), initialProducts: catalogue.products },
  logger: new ConsoleLogger('Shop'),
  port: Number(process.env['PORT'] ?? 3000),
});
app.enableShutdownHooks();
