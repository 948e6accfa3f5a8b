import { once } from 'node:events';
import { connect } from 'node:net';
import Router from '@koa/router';
import { describe, expect, it, onTestFinished } from 'vitest';
import { consolePath } from '../../services/console/pages/navigation.ts';
import { rooms } from '../../services/console/rooms/rooms.ts';
import { signInToConsole } from '../support/console/console-person.ts';
import { useInstance } from '../support/instances/instance.ts';

const instance = useInstance();

/** Paths to which forms are sent, of every room. */
const targets = rooms.flatMap((room) => {
  const path = `${consolePath}${room.path}`;
  const router = new Router({ prefix: path });
  room.routes(router, { path } as Parameters<typeof room.routes>[1]);
  return router.stack.filter(({ methods }) => methods.includes('POST')).map((layer) => String(layer.path));
});

describe('a form of the console', () => {
  it('exists in many rooms', () => {
    expect(targets.length).toBeGreaterThanOrEqual(40);
  });

  it.each<[string, Record<string, string>]>([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['another host of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    ['a page of another origin in an older browser', { Origin: 'https://evil.example' }],
    ['a page without origin', { Origin: 'null' }],
    ['a program without these headers', {}],
  ])('is refused from %s, wherever it is sent', async (_from, headers) => {
    const { browser } = await signInToConsole(instance.url, 'admin');
    const statuses = await Promise.all(
      targets.map(async (path) => {
        const url = instance.url + path.replaceAll(/:\w+|\{[^}]*\}/g, 'x');
        const body = new URLSearchParams({ name: 'x' });
        const response = await browser.fetch(url, { method: 'POST', headers, body });
        return [path, response.status];
      }),
    );
    expect(statuses).toEqual(targets.map((path) => [path, 403]));
  });

  it.each([
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disp', 400],
    ['multipart/form-data', '--x--', 400],
    ['application/json', '{}', 415],
  ])('is refused as %s if it cannot be read', async (type, body, status) => {
    const { browser } = await signInToConsole(instance.url, 'admin');
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'Content-Type': type };
    const sent = await browser.fetch(`${instance.url}/console/elements/new`, {
      method: 'POST',
      headers,
      body,
    });
    expect(sent.status).toBe(status);
  });

  it('of a stranger is answered before its body has arrived', async () => {
    const { hostname, port, origin } = new URL(instance.url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    const lines = [
      'POST /console/elements/new HTTP/1.1',
      `Host: ${hostname}:${port}`,
      `Origin: ${origin}`,
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 900000',
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\na=`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 303 /);
    expect(answer.toString()).toMatch(/\r\nLocation: \S+\/console\/sign-in/i);
  });
});
