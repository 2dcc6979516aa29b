/** Reads and skips values of the Native format. */

/** More of the stream is needed. */
export class IncompleteError extends Error {}

export class NativeReader {
  at = 0;

  constructor(private readonly data: Buffer) {}

  skip(bytes: number): void {
    this.at += bytes;
    if (this.at > this.data.length) throw new IncompleteError();
  }

  byte(): number {
    this.skip(1);
    return this.data.readUInt8(this.at - 1);
  }

  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  uint64(): number {
    this.skip(8);
    return Number(this.data.readBigUInt64LE(this.at - 8));
  }

  text(): string {
    const length = this.varint();
    this.skip(length);
    return this.data.toString("utf8", this.at - length, this.at);
  }
}
