import type { InjectionToken } from '@nestjs/common';
import { DataSource, type EntitySubscriberInterface } from 'typeorm';

/** Which DataSource is meant. */
export interface WithDataSource {
  /**
   * The DataSource: its name as `TypeOrmModule.forRoot` was given it, the token of the provider, or the
   * object. Default: the class `DataSource`, which is the token of the one without a name.
   */
  readonly dataSource?: string | Exclude<InjectionToken<DataSource>, string> | DataSource;
}

/** A server of a DataSource with `replication`. */
export type ReplicationMode = 'master' | 'slave';

/** Runs a query of the database's own on that server. */
export async function runOn(
  dataSource: DataSource,
  mode: ReplicationMode,
  sql: string,
  parameters: readonly unknown[],
): Promise<object[]> {
  const runner = dataSource.createQueryRunner(mode);
  try {
    return (await runner.query(sql, [...parameters])) as object[];
  } finally {
    await runner.release();
  }
}

/** The token that `@nestjs/typeorm` gives a DataSource of this name. */
export function providedDataSource(
  dataSource: NonNullable<WithDataSource['dataSource']>,
): { readonly token: InjectionToken } | { readonly object: DataSource } {
  if (dataSource instanceof DataSource) return { object: dataSource };
  if (typeof dataSource !== 'string') return { token: dataSource };
  return { token: dataSource === 'default' ? DataSource : `${dataSource}DataSource` };
}

/**
 * Puts a subscriber into a DataSource, and into the new list that it makes whenever it is initialised again.
 *
 * @returns what takes the subscriber out.
 */
export function subscribe(dataSource: DataSource, subscriber: EntitySubscriberInterface): () => void {
  const { initialize } = dataSource;
  let joined: EntitySubscriberInterface | undefined = subscriber;
  dataSource.subscribers.push(joined);
  dataSource.initialize = async () => {
    const made = await initialize.call(dataSource);
    if (joined) dataSource.subscribers.push(joined);
    return made;
  };
  return () => {
    // A new list: TypeORM may be going through this one.
    const others = dataSource.subscribers.filter((one) => one !== joined);
    Object.assign(dataSource, { subscribers: others });
    joined = undefined;
  };
}
