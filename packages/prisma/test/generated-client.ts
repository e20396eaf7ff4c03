import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const TOOLS = join(HERE, '../../../.tools');

/** The type of a field of a generated model, as Prisma declares it. */
export interface Field<Name extends string, Type extends string> {
  readonly modelName: Name;
  readonly name: string;
  readonly typeName: Type;
  readonly isList: boolean;
}

export interface Model<Fields> {
  readonly fields: Fields;
  // oxlint-disable-next-line typescript/no-explicit-any -- what is generated is not there when the types are checked
  readonly [operation: string]: any;
}

/** The client of `schema.prisma`, as far as the tests use it. */
export interface GeneratedClient {
  $queryRawUnsafe(query: string, ...values: unknown[]): PromiseLike<unknown>;
  $extends(extension: object): GeneratedClient;
  $on(event: 'query', listener: (event: { readonly query: string }) => void): void;
  $transaction<Result>(run: (client: GeneratedClient) => Promise<Result>): Promise<Result>;
  $transaction(batch: readonly Promise<unknown>[]): Promise<unknown[]>;
  $disconnect(): Promise<void>;
  readonly product: Model<{
    readonly id: Field<'Product', 'String'>;
    readonly sku: Field<'Product', 'String'>;
    readonly no: Field<'Product', 'BigInt'>;
    readonly code: Field<'Product', 'String'>;
    readonly shelf: Field<'Product', 'String'>;
    readonly price: Field<'Product', 'Decimal'>;
    readonly label: Field<'Product', 'String'>;
    readonly digest: Field<'Product', 'Bytes'>;
    readonly madeAt: Field<'Product', 'DateTime'>;
  }>;
  readonly visit: Model<{
    readonly visitor: Field<'Visit', 'String'>;
    readonly serial: Field<'Visit', 'BigInt'>;
    readonly no: Field<'Visit', 'Int'>;
  }>;
  readonly kind: Model<{ readonly name: Field<'Kind', 'String'> }>;
  readonly ticket: Model<{ readonly id: Field<'Ticket', 'String'> }>;
  readonly gone: Model<{ readonly id: Field<'Gone', 'String'> }>;
}

type ClientClass = new (options: { adapter: object; omit?: object; log?: object[] }) => GeneratedClient;

interface GeneratedModule {
  readonly PrismaClient: ClientClass;
  readonly Prisma: { readonly PrismaClientKnownRequestError: new (...args: never) => Error };
}

/** The class that Prisma generates from `schema.prisma`. */
export async function generatedClient(): Promise<ClientClass> {
  return (await generatedModule()).PrismaClient;
}

/** All that Prisma generates from `schema.prisma`, offline; once for each text and version. */
export async function generatedModule(): Promise<GeneratedModule> {
  const program = createRequire(import.meta.url).resolve('prisma/build/index.js');
  const schema = readFileSync(join(HERE, 'schema.prisma'), 'utf8');
  const { version } = JSON.parse(readFileSync(join(program, '../../package.json'), 'utf8')) as {
    version: string;
  };
  const name = createHash('sha256').update(`${version}\n${schema}`).digest('hex').slice(0, 16);
  const folder = join(TOOLS, `prisma-${name}`);
  if (!existsSync(folder)) await generate(program, folder);
  return (await import(join(folder, 'client/client.ts'))) as GeneratedModule;
}

/** It is not run, and Prisma would download it. */
const WITHOUT_ENGINE = { PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', CHECKPOINT_DISABLE: '1' };

async function generate(program: string, folder: string): Promise<void> {
  mkdirSync(TOOLS, { recursive: true });
  const scratch = mkdtempSync(join(TOOLS, 'prisma-new-'));
  try {
    cpSync(join(HERE, 'schema.prisma'), join(scratch, 'schema.prisma'));
    writeFileSync(join(scratch, 'package.json'), '{ "type": "module" }');
    const args = [program, 'generate', '--no-hints', '--schema', 'schema.prisma'];
    await promisify(execFile)(process.execPath, args, {
      cwd: scratch,
      env: { ...process.env, ...WITHOUT_ENGINE },
      timeout: 200_000,
    });
    renameSync(scratch, folder);
  } catch (error) {
    // Another process may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
