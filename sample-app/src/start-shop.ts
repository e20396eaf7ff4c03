import type { LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { ShopConfig } from './shop.config.js';
import { ShopModule } from './shop.module.js';

/** 64 characters of a SKU, each up to 9 when percent-encoded. */
const MAX_PARAMETER_LENGTH = 600;

export interface StartShopOptions {
  readonly config: ShopConfig;
  readonly logger: LoggerService | false;
  /** 0: any free one. */
  readonly port: number;
}

/** A shop that serves on 127.0.0.1. */
export async function startShop({ config, logger, port }: StartShopOptions): Promise<NestFastifyApplication> {
  const adapter = new FastifyAdapter({
    // Otherwise an idle keep-alive connection would hold up the shutdown.
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
  });
  const app = await NestFactory.create<NestFastifyApplication>(ShopModule.forRoot(config), adapter, {
    logger,
    abortOnError: false,
  });
  try {
    await app.listen(port, '127.0.0.1');
    return app;
  } catch (error) {
    await app.close();
    throw error;
  }
}
