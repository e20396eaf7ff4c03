import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Answer, PlatformRequest } from './exchange.js';

const FOLDER = fileURLToPath(new URL('./page/', import.meta.url));
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
const PAGE = 'page.html';
const TOKEN = '{{token}}';

interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly tag: string;
}

/** The files of the page, read once. A request names one of them, and never a path. */
export class PageFiles {
  private readonly files = new Map<string, PageFile>();

  constructor() {
    for (const name of readdirSync(FOLDER)) {
      const type = TYPES[extname(name)];
      if (type === undefined) continue;
      const body = readFileSync(join(FOLDER, name));
      const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
      this.files.set(name, { type, body, tag });
    }
  }

  /** The page itself, with the token that its actions send. */
  page(token: string): Omit<Answer, 'headers'> {
    const { type, body } = this.files.get(PAGE)!;
    return { status: 200, type, body: body.toString().replace(TOKEN, token) };
  }

  /**
   * Undefined for a name that is none of a file. A browser may keep it, and asks whether it is still the
   * same.
   */
  file(name: string, request: PlatformRequest): Answer | undefined {
    const file = name === PAGE ? undefined : this.files.get(name);
    if (!file) return undefined;
    const { type, body, tag } = file;
    const headers = { etag: tag, 'cache-control': 'private, no-cache' };
    const isKept = request.headers['if-none-match']?.includes(tag) ?? false;
    return { status: isKept ? 304 : 200, type, body, headers };
  }
}
