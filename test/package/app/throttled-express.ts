import { NestFactory } from '@nestjs/core';
import { checkThrottled, failed, ThrottledModule } from './throttled.js';

NestFactory.create(ThrottledModule, { logger: ['error'], abortOnError: false })
  .then(checkThrottled)
  .catch(failed);
