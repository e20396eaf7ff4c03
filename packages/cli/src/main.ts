#!/usr/bin/env node
import { runCli } from './program.js';
import { Terminal } from './terminal.js';

const LINGER_MS = 1000;

// Whoever reads the output may stop early: `… | head`.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

const terminal = new Terminal(process.stdout, process.stderr, process.env);
process.exitCode = await runCli(process.argv.slice(2), { terminal, environment: process.env });
// Whatever an application has left open must not keep the process.
setTimeout(() => process.exit(), LINGER_MS).unref();
