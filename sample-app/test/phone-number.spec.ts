import { expect, it } from '@jest/globals';
import { normalizePhoneNumber, parsePhoneNumber } from '../src/customers/phone-number.js';

it.each(['+44 (20) 7946-0018', '0044 20 79460018', '+442079460018', ' +44.20.7946.0018'])(
  'reads %s as one number',
  (text) => expect(parsePhoneNumber(text)).toBe('442079460018'),
);

it.each(['', 'call me', '020 7946 0018', '+44', '+0123456789', '+1234567890123456'])(
  'refuses %j: no international number',
  (text) => expect(parsePhoneNumber(text)).toBeUndefined(),
);

it('leaves a normalized number as it is', () => {
  expect(normalizePhoneNumber('442079460018')).toBe('442079460018');
});
