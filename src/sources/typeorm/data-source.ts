import type { InjectionToken } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Which DataSource is meant. */
export interface WithDataSource {
  /**
   * The DataSource: its name as `TypeOrmModule.forRoot` was given it, the token of the provider, or the object. Default: the class
   * `DataSource`, which is the token of the one without a name.
   */
  readonly dataSource?: string | Exclude<InjectionToken<DataSource>, string> | DataSource;
}

/** The token that `@nestjs/typeorm` gives a DataSource of this name. */
export function providedDataSource(
  dataSource: NonNullable<WithDataSource['dataSource']>,
): { readonly token: InjectionToken } | { readonly object: DataSource } {
  if (dataSource instanceof DataSource) return { object: dataSource };
  if (typeof dataSource !== 'string') return { token: dataSource };
  return { token: dataSource === 'default' ? DataSource : `${dataSource}DataSource` };
}
