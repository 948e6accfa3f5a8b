import { makeValidator } from 'envalid';
import { maskCredentials } from '#lib/config/mask-credentials.ts';

/** Where Kafka is: `host:port`, several separated by commas. */
export const brokerList = makeValidator<string[]>((text) =>
  itemsOf(text).map((item) => {
    if (!/^(\[[\da-f:]+\]|[\w.-]+):\d{1,5}$/i.test(item))
      throw new Error(`must be like kafka-1:9092,kafka-2:9092 ("${maskCredentials(item)}" is not)`);
    return item;
  }),
);

/** Where Redis is; never told back, because it may have a password. */
export const redisUrl = makeValidator<string>((text) => {
  const url = URL.parse(text);
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw new Error(
      `must be like redis://:password@host:6379/0, or rediss:// (it is "${maskCredentials(text)}")`,
    );
  return text;
});

/** The internal port of a service: one address, or those of its replicas, separated by commas. */
export const internalAddresses = makeValidator<string[]>((text) =>
  itemsOf(text).map((item) => {
    const url = URL.parse(item);
    if (url?.protocol !== 'http:' || url.pathname !== '/' || url.search !== '' || url.username !== '')
      throw new Error(
        `must be addresses such as http://forms:8081, separated by commas ("${maskCredentials(item)}" is none)`,
      );
    return url.origin;
  }),
);

/** A time in seconds, with a fraction or without, up to 10; in milliseconds. */
export const seconds = makeValidator<number>((text) => {
  if (!/^\d{1,2}(\.\d{1,3})?$/.test(text) || Number(text) > 10)
    throw new Error(`must be seconds from 0 to 10 (it is "${text}")`);
  return Number(text) * 1000;
});

function itemsOf(text: string): string[] {
  const items = text.split(/[\s,]+/).filter((item) => item !== '');
  if (items.length === 0) throw new Error('must name at least one');
  return items;
}

/** How many processes share the work of a service. */
export const replicaCount = makeValidator<number>((text) => {
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Error(`must be a number from 1 to 9999 (it is "${text}")`);
  return Number(text);
});
