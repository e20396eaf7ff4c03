import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ObservedModule, observe } from './observed.js';

observe(() =>
  NestFactory.create(ObservedModule, new FastifyAdapter(), {
    logger: ['warn', 'error'],
    abortOnError: false,
  }),
).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
