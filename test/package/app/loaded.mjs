// Loads the core in a process that has loaded what every application of Nest and ioredis loads, and prints
// what that took. With --files it prints which files that were, without the time: the hook that lists them
// takes time itself.
import '@nestjs/common';
import '@nestjs/core';
import 'ioredis';
import 'reflect-metadata';
import 'rxjs';
import { createRequire, register } from 'node:module';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

const HOOK = `
  let port;
  export function initialize(given) { port = given; }
  export function load(url, context, next) { port.postMessage(url); return next(url, context); }`;

const { port1, port2 } = new MessageChannel();
const isListing = process.argv.includes('--files');
if (isListing)
  register(`data:text/javascript,${encodeURIComponent(HOOK)}`, { data: port2, transferList: [port2] });
const { cache } = createRequire(import.meta.url);
const before = new Set(Object.keys(cache));

const start = performance.now();
await import('nestjs-bloom');
const ms = performance.now() - start;

const files = Object.keys(cache).filter((path) => !before.has(path));
for (let told; (told = receiveMessageOnPort(port1));)
  if (!told.message.startsWith('node:')) files.push(told.message);
console.log(JSON.stringify(isListing ? { files } : { ms }));
