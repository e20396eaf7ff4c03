/** What docs/configuration.md uses of `@nestjs/config`, which is not installed here. */
declare module '@nestjs/config' {
  import type { DynamicModule } from '@nestjs/common';

  // oxlint-disable-next-line typescript/no-namespace -- a class cannot be declared twice
  export namespace ConfigModule {
    function forRoot(options: { isGlobal?: boolean }): Promise<DynamicModule>;
  }
  export interface ConfigService {
    get<T>(name: string): T | undefined;
    get<T>(name: string, otherwise: T): T;
    getOrThrow<T>(name: string): T;
  }
  // A class cannot be declared twice; as a token a function will do.
  export function ConfigService(): void;
}
