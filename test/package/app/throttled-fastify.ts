import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { checkThrottled, failed, ThrottledModule } from './throttled.js';

NestFactory.create(ThrottledModule, new FastifyAdapter(), { logger: ['error'], abortOnError: false })
  .then(checkThrottled)
  .catch(failed);
