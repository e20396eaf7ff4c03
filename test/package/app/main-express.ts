import { NestFactory } from '@nestjs/core';
import { check } from './check.js';
import { ShopModule } from './shop.js';

NestFactory.create(ShopModule, { logger: ['warn', 'error'], abortOnError: false })
  .then(check)
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
