import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { check } from './check.js';
import { ShopModule } from './shop.js';

NestFactory.create<NestFastifyApplication>(ShopModule, new FastifyAdapter(), {
  logger: ['warn', 'error'],
  abortOnError: false,
})
  .then(check)
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
