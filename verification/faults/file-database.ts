import { appendFileSync, openSync, readSync } from 'node:fs';
import { type Row, ShopDatabase } from './shop-database.js';

const PIECE_BYTES = 64 * 1024;

/**
 * The database of a shop whose instances are processes: they append rows to one file, which each of them
 * reads.
 */
export class FileDatabase extends ShopDatabase {
  private readonly file: number;
  private readonly piece = Buffer.alloc(PIECE_BYTES);
  private readBytes = 0;
  private rest = '';

  /** @param ids of rows that are there before any is in the file */
  constructor(
    private readonly path: string,
    ids: readonly string[],
  ) {
    super(ids);
    this.file = openSync(path, 'a+');
  }

  override find(id: string): Row | undefined {
    this.readOn();
    return super.find(id);
  }

  override async insert(id: string): Promise<void> {
    await super.insert(id);
    appendFileSync(this.path, `${id}\n`);
  }

  override visibleIds(): string[] {
    this.readOn();
    return super.visibleIds();
  }

  private readOn(): void {
    for (let bytes; (bytes = readSync(this.file, this.piece, 0, PIECE_BYTES, this.readBytes)) > 0;) {
      this.readBytes += bytes;
      const lines = (this.rest + this.piece.toString('latin1', 0, bytes)).split('\n');
      this.rest = lines.pop()!;
      for (const id of lines) this.rows.add(id);
    }
  }
}
