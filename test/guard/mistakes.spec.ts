import { Controller, Get, Injectable, Logger, Param, SetMetadata, UseInterceptors } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { Test } from '@nestjs/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { defer, lastValueFrom } from 'rxjs';
import {
  BloomConfigError,
  BloomGuarded,
  BloomGuardRunner,
  BloomInterceptor,
  BloomRegisters,
} from '../../src/index.js';
import type { Anything } from './support/anything.js';
import { GuardedRoutes, NOT_FOUND } from './support/guarded-routes.js';

afterEach(() => void jest.restoreAllMocks());

describe('A generator', () => {
  it.each([BloomGuarded, BloomRegisters])('is refused when its class is made', (decorator) => {
    const put = (method: Function) => () =>
      decorator('products')(class Repository {}.prototype, 'all', { value: method } as never);
    expect(put(async function* () {})).toThrow(BloomConfigError);
    expect(put(function* () {})).toThrow(
      /on a method that returns a promise, got Repository.all, which is a generator/,
    );
    expect(put(async () => {})).not.toThrow();
  });
});

describe('A test that mocks what is missing', () => {
  @Injectable()
  class Repository {
    @BloomGuarded('products')
    async find(id: string) {
      return id;
    }

    @BloomRegisters('products')
    async create(id: string) {
      return id;
    }
  }

  it.each([
    ['an empty object', () => ({})],
    [
      'an object that has everything',
      () => new Proxy({}, { get: (_, key) => (key === 'then' ? undefined : () => ({})) }),
    ],
    ['text', () => 'mock'],
  ])('has its methods run unguarded, with one warning: %s', async (_name, mock) => {
    @Injectable()
    class Mocked extends Repository {}
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const module = await Test.createTestingModule({ providers: [Mocked] })
      .useMocker(mock)
      .compile();
    const repository = module.get(Mocked);
    expect([await repository.find('x'), await repository.find('y')]).toEqual(['x', 'y']);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0]![0])).toContain('in place of BloomGuardRunner');
    expect(await repository.create('x')).toBe('x');
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

describe('A method for requests and messages behind BloomInterceptor', () => {
  let routes: GuardedRoutes;
  beforeEach(() => void (routes = new GuardedRoutes('express')));
  afterEach(() => routes.close());

  @Controller()
  class ProductController {
    @Get(':sku')
    @SetMetadata('microservices:pattern', ['find'])
    @UseInterceptors(BloomInterceptor)
    @BloomGuarded('products', { id: 'sku' })
    async find(@Param('sku') sku: Anything) {
      await new Promise(setImmediate);
      return { found: sku };
    }
  }

  it('is guarded on both ways, each with its own id', async () => {
    const { get, app } = await routes.start(ProductController);
    const controller = app.get(ProductController);
    const interceptor = new BloomInterceptor(app.get(BloomGuardRunner, { strict: false }));
    const context = new ExecutionContextHost([], ProductController, controller.find);
    context.setType('rpc');
    const handle = async (payload: { sku: string }) => {
      const next = { handle: () => defer(() => controller.find(payload)) };
      return lastValueFrom(await interceptor.intercept(context, next));
    };
    const both = [
      handle({ sku: 'none' }),
      get('/none'),
      controller.find({ sku: 'none' }),
      handle({ sku: 'A-1' }),
      get('/A-1'),
    ];
    expect(await Promise.all(both)).toEqual([
      null,
      NOT_FOUND,
      null,
      { found: { sku: 'A-1' } },
      { status: 200, body: { found: 'A-1' } },
    ]);
    expect(routes.products.checked.toSorted()).toEqual(['A-1', 'A-1', 'none', 'none', 'none']);
  });
});
