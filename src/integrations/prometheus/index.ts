import { register } from 'prom-client';

/** The registry that `prom-client` uses by default. */
export const defaultRegistry = register;
