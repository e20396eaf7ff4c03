import {
  type Adoption,
  describeMeta,
  type Meta,
  type MetadataCodec,
  type MetadataReading,
  type OfflineCommand,
  parseMeta,
  type PublishCommand,
  type Refusal,
  type RawMeta,
} from 'nestjs-bloom/internal';
import type { GenerationKeys } from './generation-keys.js';
import { GENERATION_FORMAT, generationForm, type StoredGeneration } from './generation-meta.js';
import type { GenerationScripts } from './generation-scripts.js';
import type { GenerationSnapshot, ResolvedGeneration } from './generation-snapshot.js';
import type { GenerationResolver, GenerationRole } from './layout-driver.js';

export interface GenerationCodecContext<Resolved extends ResolvedGeneration> {
  readonly keys: GenerationKeys;
  readonly generations: GenerationScripts;
  readonly driver: GenerationResolver<Resolved>;
}

/** Format 2: a generation is named by a token, and its settings are a text of the driver. */
export class GenerationCodec<Resolved extends ResolvedGeneration> implements MetadataCodec<
  StoredGeneration,
  GenerationSnapshot<Resolved>
> {
  readonly format = GENERATION_FORMAT;
  readonly noticesRecreation = true;

  private readonly form;

  constructor(private readonly context: GenerationCodecContext<Resolved>) {
    this.form = generationForm(context.driver.layout);
  }

  parse(type: string, pairs: readonly string[]): RawMeta<StoredGeneration> {
    return parseMeta(this.form, type, pairs);
  }

  snapshot(
    meta: Meta<StoredGeneration> | undefined,
    read: MetadataReading,
  ): GenerationSnapshot<Resolved> | 'nonsense' {
    const resolve = (generation: StoredGeneration | undefined, role: GenerationRole) =>
      generation && (this.context.driver.resolve(generation, role) ?? 'nonsense');
    const live = resolve(meta?.live, 'live');
    const staging = resolve(meta?.staging, 'staging');
    if (live === 'nonsense' || staging === 'nonsense') return 'nonsense';
    return { ...describeMeta(meta, read), live, staging };
  }

  originOf(generation: StoredGeneration): string {
    return this.context.driver.originOf?.(generation) ?? generation.token;
  }

  async offline({ state, live, tag = '', nonsense = false, builds }: OfflineCommand<StoredGeneration>) {
    const { keys, generations } = this.context;
    const isDone = await generations.offline(keys, { token: live?.token ?? tag, state, nonsense, builds });
    return isDone ? { state, retiredKeys: [] } : undefined;
  }

  publish({ lease, runId, generation, fields }: PublishCommand<StoredGeneration>): Promise<Refusal | 'OK'> {
    const { keys, generations, driver } = this.context;
    return generations.publish(keys, { lease, runId, generation, layout: driver.layout, fields });
  }

  withdraw(token: string): Promise<void> {
    return this.context.generations.withdraw(this.context.keys, token);
  }

  async retire(generation: StoredGeneration): Promise<void> {
    await this.context.driver.retire?.(generation);
  }

  ownKeys(generation: StoredGeneration): readonly string[] {
    return this.context.driver.ownKeys?.(generation) ?? [];
  }

  adopt(states: readonly string[]): Promise<Adoption> {
    return this.context.driver.adopt(states);
  }
}
