import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

// The thread of another server (bench/stranger.ts). It reads each request to its end and answers it late.

const { afterMs } = workerData as { afterMs: number };

const server = createServer((request, response) => {
  request.resume().once('end', () => setTimeout(() => response.end(), afterMs));
});
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port));
