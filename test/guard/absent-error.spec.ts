import { describe, expect, it } from '@jest/globals';
import { NotFoundException } from '@nestjs/common';
import { notFoundError } from '../../src/guard/guard-answers.js';

const METHOD = 'ProductController.findOne';

describe('the error of an absent id', () => {
  it('names the guarded method in its stack, in place of the calls that led there', () => {
    const error = notFoundError('http', METHOD) as NotFoundException;
    expect(error).toBeInstanceOf(NotFoundException);
    expect(error.getStatus()).toBe(404);
    expect(error.stack).toBe(
      'NotFoundException: Not Found\n    at @BloomGuarded on ProductController.findOne',
    );
  });

  it('leaves the stacks of other errors as they were', () => {
    const before = Error.stackTraceLimit;
    notFoundError('http', METHOD);
    expect(Error.stackTraceLimit).toBe(before);
    expect(new Error('another').stack).toContain('absent-error.spec');
  });

  it('has no stack where the application wants none', () => {
    const before = Error.stackTraceLimit;
    try {
      Error.stackTraceLimit = 0;
      expect((notFoundError('http', METHOD) as Error).stack).not.toContain(METHOD);
      expect(Error.stackTraceLimit).toBe(0);
    } finally {
      Error.stackTraceLimit = before;
    }
  });

  it('has the stack of the engine where nobody may change how long that is', () => {
    const before = Object.getOwnPropertyDescriptor(Error, 'stackTraceLimit')!;
    try {
      Object.defineProperty(Error, 'stackTraceLimit', { ...before, writable: false });
      const error = notFoundError('http', METHOD) as Error;
      expect(error).toBeInstanceOf(NotFoundException);
      expect(error.stack).toContain('absent-error.spec');
    } finally {
      Object.defineProperty(Error, 'stackTraceLimit', before);
    }
  });
});
