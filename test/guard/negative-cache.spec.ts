import {
  Controller,
  Get,
  Headers,
  Inject,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Scope,
  UseInterceptors,
} from '@nestjs/common';
import { ContextIdFactory } from '@nestjs/core';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { type BloomFeature, BloomGuarded, BloomInterceptor, BloomModule, BloomService } from 'nestjs-bloom';
import { PLATFORMS, type RunningApp, startApp, startContext } from '../support/nest-app.js';

/** Owners by document. */
const owners = new Map<string, string>();
let calls = 0;

@Injectable()
class Documents {
  @BloomGuarded('documents')
  async find(id: string): Promise<object | null> {
    calls++;
    return owners.has(id) ? { id } : null;
  }

  @BloomGuarded('documents')
  async findFor(id: string, user: string): Promise<object | null> {
    calls++;
    return owners.get(id) === user ? { id } : null;
  }

  @BloomGuarded('documents', { id: 'id' })
  async findBy(query: { id: string; user: string }): Promise<object | null> {
    calls++;
    return owners.get(query.id) === query.user ? { id: query.id } : null;
  }

  @BloomGuarded('documents', { id: (key: string) => key.split('/')[1]! })
  async findByKey(key: string): Promise<object | null> {
    calls++;
    const [user, id] = key.split('/');
    return owners.get(id!) === user ? { id } : null;
  }

  @BloomGuarded('documents', { onAbsent: 'empty' })
  async list(_id: string): Promise<string[]> {
    calls++;
    return [];
  }

  @BloomGuarded('documents')
  async touch(_id: string): Promise<void> {
    calls++;
  }

  @BloomGuarded('documents')
  async ofExactly(id: string | number): Promise<object | null> {
    calls++;
    return id === 7 || id === 'Seven' ? { id } : null;
  }
}

@Injectable({ scope: Scope.REQUEST })
class MyDocuments {
  user = '';

  @BloomGuarded('documents')
  async find(id: string): Promise<object | null> {
    calls++;
    return owners.get(id) === this.user ? { id } : null;
  }
}

@Injectable()
class OfTenant {
  constructor(@Inject('TENANT') private readonly tenant: string) {}

  @BloomGuarded('documents')
  async find(id: string): Promise<object | null> {
    calls++;
    return owners.get(id) === this.tenant ? { id } : null;
  }
}

/** A class of its parent's name. */
const ArchivedDocuments = ((Parent: typeof Documents) => {
  @Injectable()
  class Documents extends Parent {
    @BloomGuarded('documents')
    override async find(id: string): Promise<object | null> {
      return (await super.find(id)) ?? { id, from: 'the archive' };
    }
  }
  return Documents;
})(Documents);

@Module({ providers: [OfTenant, { provide: 'TENANT', useValue: 'alice' }] })
class AliceModule {}
@Module({ providers: [OfTenant, { provide: 'TENANT', useValue: 'mallory' }] })
class MalloryModule {}

@Controller()
class DocumentController {
  @Get('plain/:id')
  @BloomGuarded('documents')
  async plain(@Param('id') id: string, @Headers('user') user: string) {
    if (owners.get(id) !== user) throw new NotFoundException();
    return { id };
  }

  @Get('before/:id')
  @UseInterceptors(BloomInterceptor)
  @BloomGuarded('documents')
  async before(@Param('id') id: string, @Headers('user') user: string) {
    if (owners.get(id) !== user) throw new NotFoundException();
    return { id };
  }
}

/** A filter in which every bit is set: everything is a false positive. */
function filters(feature: Partial<BloomFeature>) {
  return [
    BloomModule.forRoot({ onEvent: () => {} }),
    BloomModule.forFeature([
      {
        name: 'documents',
        capacity: 1,
        errorRate: 0.001,
        create: 'first-start',
        rebuild: { drainMs: 0 },
        ...feature,
      },
    ]),
  ];
}

async function saturate(module: { get: TestingModule['get'] }) {
  const filter = module.get(BloomService).filter('documents');
  await filter.addMany(Array.from({ length: 20_000 }, (_, i) => `filler-${i}`));
  return filter;
}

beforeEach(() => {
  owners.clear();
  owners.set('plan', 'alice');
  calls = 0;
});

describe('The negative cache', () => {
  let module: TestingModule;

  async function start(feature: Partial<BloomFeature> = { negativeCache: true }) {
    module = await startContext({
      imports: [...filters(feature), AliceModule, MalloryModule],
      providers: [Documents, MyDocuments, ArchivedDocuments],
    });
    return { filter: await saturate(module), documents: module.get(Documents) };
  }

  afterEach(() => module.close());

  it('is off by default', async () => {
    const { documents } = await start({});
    for (let i = 0; i < 3; i++) expect(await documents.find('nothing')).toBeNull();
    expect(calls).toBe(3);
  });

  it('remembers what only the id has decided', async () => {
    const { documents, filter } = await start();
    for (let i = 0; i < 3; i++) expect(await documents.find('nothing')).toBeNull();
    expect(calls).toBe(1);
    expect(filter.guarding.counts()).toMatchObject({ foundNothing: 1, remembered: 2 });
  });

  it('gives the owner a document that a stranger was denied', async () => {
    const { documents } = await start();
    for (let i = 0; i < 3; i++) {
      expect(await documents.findFor('plan', 'mallory')).toBeNull();
      expect(await documents.findBy({ id: 'plan', user: 'mallory' })).toBeNull();
      expect(await documents.findByKey('mallory/plan')).toBeNull();
      expect(await documents.findFor('plan', 'alice')).toEqual({ id: 'plan' });
      expect(await documents.findBy({ id: 'plan', user: 'alice' })).toEqual({ id: 'plan' });
      expect(await documents.findByKey('alice/plan')).toEqual({ id: 'plan' });
    }
  });

  it('keeps apart what request-scoped objects, and two objects of one class, were denied', async () => {
    await start();
    const [hers, his] = await Promise.all(
      [1, 2].map(() => module.resolve(MyDocuments, ContextIdFactory.create())),
    );
    hers!.user = 'alice';
    his!.user = 'mallory';
    expect(await his!.find('plan')).toBeNull();
    expect(await hers!.find('plan')).toEqual({ id: 'plan' });
    const malloryS = module.select(MalloryModule).get(OfTenant, { strict: true });
    const aliceS = module.select(AliceModule).get(OfTenant, { strict: true });
    expect(await malloryS.find('plan')).toBeNull();
    expect(await aliceS.find('plan')).toEqual({ id: 'plan' });
  });

  it('gives what a class finds where its parent of the same name has found nothing', async () => {
    await start();
    const archived = module.get(ArchivedDocuments);
    for (let i = 0; i < 2; i++) expect(await archived.find('old plan')).toMatchObject({ id: 'old plan' });
  });

  it('does not remember an empty list, nor a method that returns nothing', async () => {
    const { documents, filter } = await start();
    for (let i = 0; i < 2; i++) {
      expect(await documents.list('of alice')).toEqual([]);
      expect(await documents.touch('plan')).toBeUndefined();
    }
    expect(calls).toBe(4);
    expect(filter.guarding.counts()).toMatchObject({ foundNothing: 4, remembered: 0 });
  });

  it('keeps apart the spellings of one id, in a bounded number', async () => {
    const { documents } = await start({
      negativeCache: true,
      normalize: (id) => String(id).toLowerCase(),
    });
    expect(await documents.ofExactly('7')).toBeNull();
    expect(await documents.ofExactly(7)).toEqual({ id: 7 });
    expect(await documents.ofExactly('SEVEN')).toBeNull();
    expect(await documents.ofExactly('Seven')).toEqual({ id: 'Seven' });
    calls = 0;
    expect(await documents.ofExactly('SEVEN')).toBeNull();
    expect(calls).toBe(0);
    const spellings = Array.from({ length: 16 }, (_, i) =>
      [...'many'].map((letter, at) => (i & (1 << at) ? letter.toUpperCase() : letter)).join(''),
    );
    for (const spelling of spellings) await documents.ofExactly(spelling);
    expect(calls).toBe(16);
    await documents.ofExactly(spellings[0]!);
    expect(calls).toBe(17);
  });
});

describe.each(PLATFORMS)('The negative cache on routes of %s', (platform) => {
  let running: RunningApp;

  afterEach(() => running.close());

  it('gives the owner a document that a stranger was denied, behind the interceptor too', async () => {
    running = await startApp(platform, {
      imports: filters({ negativeCache: true }),
      controllers: [DocumentController],
    });
    await saturate(running.app);
    for (const path of ['/plain/plan', '/before/plan']) {
      for (let i = 0; i < 2; i++) {
        expect((await running.get(path, { headers: { user: 'mallory' } })).status).toBe(404);
        expect((await running.get(path, { headers: { user: 'alice' } })).status).toBe(200);
      }
    }
  });
});
