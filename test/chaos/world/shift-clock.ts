import { ServerResponse } from 'node:http';

// Loaded before a service (`node --import`): its clock is off by CLOCK_SHIFT_MS, as a machine's can be.
// Timers go on as they do there.
const shift = Number(process.env.CLOCK_SHIFT_MS);
const RealDate = Date;
const { now } = RealDate;

class ShiftedDate extends RealDate {
  constructor(...given: [] | [number | string | Date]) {
    super(...((given.length === 0 ? [now() + shift] : given) as [number]));
  }
  static override now = () => now() + shift;
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof RealDate;
  }
}

// Date called as a function writes the time; everything else is inherited.
globalThis.Date = new Proxy(ShiftedDate, {
  apply: () => new ShiftedDate().toString(),
}) as unknown as DateConstructor;

// Node writes the Date header of answers by a clock of its own.
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...given: unknown[]) {
  this.setHeader('Date', new Date().toUTCString());
  return Reflect.apply(writeHead, this, given);
} as typeof writeHead;
