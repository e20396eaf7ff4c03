import { configure } from '@codegenie/serverless-express';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
await app.init();

/** Redis is asked by the first call, not by the start of the process. */
export const handler = configure({ app: app.getHttpAdapter().getInstance() });
