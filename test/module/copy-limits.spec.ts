import { describe, expect, it } from '@jest/globals';
import { BloomConfigError, BloomModule, type CopyLimits } from 'nestjs-bloom';
import { startContext } from '../support/nest-app.js';

/** As an application without types, or with values of its environment, may give them. */
async function start(copies: unknown): Promise<void> {
  const options = { copies: copies as Partial<CopyLimits>, onEvent: () => {}, filters: [] };
  const module = await startContext({ imports: [BloomModule.forRoot(options)] });
  await module.close();
}

describe('The limits of local copies', () => {
  it.each([
    ['nothing', undefined],
    ['one of them', { maxBytes: 1 << 20 }],
    ['undefined, which is the default', { bytesPerSecond: undefined, maxBytes: undefined }],
    ['no limit', { bytesPerSecond: Infinity, maxBytes: Infinity } satisfies CopyLimits],
  ])('may be %s', async (_, copies) => {
    await expect(start(copies)).resolves.toBeUndefined();
  });

  it.each([
    [{ bytesPerSecond: 0 }, /copies\.bytesPerSecond to be a number of bytes above 0, got 0/],
    [{ bytesPerSecond: -1 }, /copies\.bytesPerSecond .* got -1/],
    [{ maxBytes: Number.NaN }, /copies\.maxBytes .* got NaN/],
    [{ maxBytes: '1000' }, /copies\.maxBytes .* got '1000'/],
    [{ maxBytes: null }, /copies\.maxBytes .* got null/],
  ])('%p is an error when the application starts', async (copies, message) => {
    const starting = start(copies);
    await expect(starting).rejects.toThrow(BloomConfigError);
    await expect(starting).rejects.toThrow(message);
  });
});
