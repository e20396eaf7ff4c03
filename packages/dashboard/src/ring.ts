/** The last elements of a row that has no end. */
export class Ring<Element> {
  private elements: Element[] = [];

  constructor(private readonly size: number) {}

  push(element: Element): void {
    this.elements.push(element);
    // Not one by one: that would move all of them each time.
    if (this.elements.length >= 2 * this.size) this.elements = this.elements.slice(-this.size);
  }

  /** The earliest first. */
  all(): readonly Element[] {
    return this.elements.slice(-this.size);
  }
}
