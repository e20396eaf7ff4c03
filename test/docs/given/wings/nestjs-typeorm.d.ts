/** What README uses of `@nestjs/typeorm`, which is not installed here. Each page has it, so it can be merged. */
declare module '@nestjs/typeorm' {
  import type { DynamicModule, Type } from '@nestjs/common';
  import type { DataSourceOptions } from 'typeorm';

  // oxlint-disable-next-line typescript/no-namespace -- a class cannot be declared twice
  export namespace TypeOrmModule {
    function forRoot(options: DataSourceOptions): DynamicModule;
    function forFeature(entities: readonly Type[]): DynamicModule;
  }
  export function InjectRepository(entity: Type): ParameterDecorator;
}
