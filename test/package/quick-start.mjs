// The quick start of README, line by line, in a new application as "nest new" makes it.
import { equal, ok } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { run } from '../../scripts/pack.mjs';
import { root } from '../../scripts/packages.mjs';
import { freePort } from '../support/free-port.js';

const START_MAX_MS = 180_000;
const NEW_APPLICATION = ['--skip-git', '--package-manager', 'npm'];
/** The module of the quick start can be loaded by the tests of the application, as well as its own. */
const SPEC = `import { AppModule } from './app.module';
describe('AppModule', () => it('can be loaded', () => expect(AppModule).toBeDefined()));
`;
/** Tests of what the quick start has written in its first step, as the documents have them. */
const SAMPLES = samples('docs/testing.md', /^\/\/ (src\/\S+\.spec\.ts)\n/);

/** What a line of a shell block does. A line that is none of these is a mistake of README or of this. */
const LINES = [
  [/^$/, () => undefined],
  [/^npx (@nestjs\/cli\S*) new (\S+)$/, (tour, program, name) => tour.create(program, name)],
  [/^cd (\S+)$/, (tour, name) => tour.enter(name)],
  [/^npm install (.+)$/, (tour, packages) => tour.install(packages.split(' '))],
  [/^export DATABASE_URL=\S+$/, (tour) => tour.createDatabase()],
  [/^npm start$/, (tour, said) => tour.start(said)],
  [
    /^curl -i (?:-X (\w+) )?localhost:3000(\/\S*)$/,
    (tour, method, path, said) => tour.ask(path, said, method),
  ],
  [
    /^for i in \$\(seq (\d+)\); do curl -s localhost:3000(\/\S*-)\$i; done$/,
    (tour, times, path, said) => tour.flood(Number(times), path, said),
  ],
  [/^psql "\$DATABASE_URL" -c "(.+)"$/, (tour, statement) => tour.insert(statement)],
];

/**
 * Follows README from the first command to the last answer.
 *
 * @param nest the major version of Nest: README names one, and says that the other is the same.
 */
export async function followQuickStart(folder, tarballs, { postgres, nest }) {
  const tour = new Tour(folder, tarballs, { postgres, nest });
  console.log(`\nThe quick start of README on Nest ${nest}`);
  try {
    for (const { language, text } of blocks()) {
      if (language === 'ts') tour.hold(text);
      else for (const line of text.trim().split('\n')) await tour.follow(line);
    }
    ok(
      tour.asked >= 6,
      'Expected README to ask for absent ids and for new rows, in memory and in a database.',
    );
    tour.test();
  } finally {
    await tour.stop();
  }
  console.log(`The quick start of README on Nest ${nest}: works`);
}

/** The blocks of README up to the end of its quick start, in their order. */
function blocks() {
  const [start] = readFileSync(join(root, 'README.md'), 'utf8').split(/^## See it work$/m);
  return blocksOf(start);
}

function blocksOf(page) {
  return [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text]) => ({ language, text }));
}

/** The files of a page whose first lines are such names. */
function samples(page, name) {
  const files = blocksOf(readFileSync(join(root, page), 'utf8')).filter(({ text }) => name.test(text));
  ok(files.length >= 3, `Expected three tests in ${page}, got ${files.length}.`);
  return files.map(({ text }) => ({ file: name.exec(text)[1], text }));
}

class Tour {
  asked = 0;
  output = '';

  constructor(folder, tarballs, { postgres, nest }) {
    Object.assign(this, { home: folder, tarballs, postgres, nest });
    mkdirSync(folder);
  }

  /** Runs a line of a shell block; a comment after it is what README says that comes of it. */
  async follow(line) {
    const [, command, comment] = /^(.*?)\s*(?:# (.*))?$/.exec(line);
    const found = LINES.map(([pattern, does]) => [pattern.exec(command), does]).find(([match]) => match);
    ok(found, `Expected a line of README that this test can follow, got "${line}".`);
    const [[, ...words], does] = found;
    await does(this, ...words, comment);
  }

  create(program, name) {
    const args = ['--yes', this.versioned(program), 'new', name, ...NEW_APPLICATION];
    run('npx', args, { cwd: this.home, timeout: 600_000 });
  }

  enter(name) {
    this.home = join(this.home, name);
  }

  install(packages) {
    const named = packages.map((name) => this.tarballs[name] ?? this.versioned(name));
    run('npm', ['install', '--no-audit', '--no-fund', ...named], { cwd: this.home, timeout: 600_000 });
  }

  /** README names Nest 11. */
  versioned(name) {
    return name.replace(/^(@nestjs\/.*)@11$/, `$1@${this.nest}`);
  }

  /** A block of TypeScript is a file, whose name is its first line. The first one is that of the database. */
  hold(text) {
    this.first ??= text;
    this.text = this.last = text;
  }

  async createDatabase() {
    const name = `quick_start_${this.nest}`;
    await this.postgres.run(`CREATE DATABASE ${name}`);
    this.databaseUrl = String(new URL(`/${name}`, this.postgres.url));
    this.text = this.first;
  }

  /** @param said what the log says in quotes when the filter protects. */
  async start(said) {
    const [, text] = /"(.+)"/.exec(said);
    await this.stop();
    this.output = '';
    this.write(/^\/\/ (src\/\S+\.ts)\n/.exec(this.text)[1], this.text);
    this.port = await freePort();
    const env = { ...process.env, DATABASE_URL: this.databaseUrl, PORT: String(this.port) };
    // A group of its own: "npm start" starts others.
    this.child = spawn('npm', ['start'], {
      cwd: this.home,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream.on('data', (text) => {
        this.output += text;
        process.stdout.write(text);
      });
    await this.eventually(() => this.output.includes(text), `the log to say "${text}"`);
  }

  async ask(path, said, method) {
    const { status } = await fetch(`http://localhost:${this.port}${path}`, { method });
    this.asked++;
    equal(String(status), said, path);
  }

  /** @param said what the log says in quotes, and about how often. */
  async flood(times, path, said) {
    const [, text, count] = /^"(.+)" about (\d+) times$/.exec(said);
    for (let i = 1; i <= times; i++) await fetch(`http://localhost:${this.port}${path}${i}`);
    const logged = this.output.split(text).length - 1;
    ok(Math.abs(logged - count) <= 3, `Expected "${text}" about ${count} times, got ${logged}.`);
  }

  async insert(statement) {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: this.databaseUrl });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  }

  /** Its own tests, one that loads what README has written, and those of the documents. */
  test() {
    this.write('src/loaded.spec.ts', SPEC);
    this.runTests();
    this.write('src/app.module.ts', this.last);
    for (const { file, text } of SAMPLES) this.write(file, text);
    this.runTests();
  }

  runTests() {
    run('npm', ['test'], { cwd: this.home, timeout: 180_000 });
  }

  write(file, text) {
    writeFileSync(join(this.home, file), text);
  }

  async eventually(isSo, what) {
    for (const end = performance.now() + START_MAX_MS; performance.now() < end; await delay(100)) {
      if (isSo()) return;
      if (this.child.exitCode !== null) break;
    }
    throw new Error(`Expected ${what} within ${START_MAX_MS / 1000} s.`);
  }

  async stop() {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    process.kill(-this.child.pid, 'SIGTERM');
    await ended;
  }
}
