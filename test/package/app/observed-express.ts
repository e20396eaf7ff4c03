import { NestFactory } from '@nestjs/core';
import { ObservedModule, observe } from './observed.js';

observe(() => NestFactory.create(ObservedModule, { logger: ['warn', 'error'], abortOnError: false })).catch(
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
