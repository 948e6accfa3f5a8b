import type { ServiceProcess } from '../world/service-process.ts';
import { atOnce, type Fault, formAndSubmit } from './fault.ts';

const tenMinutes = 600_000;
/** A stop with its time for routers to notice, and a start. */
const promisedOfReplicas = { perMille: 1_000 };

/** What happens to the processes of a service. */
export function processFaults(services: readonly ServiceProcess[]): Fault[] {
  return services.flatMap((service) => [
    ...[
      killed(service),
      ...[awhile, longerThanALease].map((pause) => paused(service, pause)),
      ...[tenMinutes, -tenMinutes].map((shiftMs) => shifted(service, shiftMs)),
    ].map((fault) => (service.service === 'webhooks' ? { ...fault, promised: formAndSubmit } : fault)),
    restarted(service, services),
  ]);
}

function killed(service: ServiceProcess): Fault {
  return {
    name: `kill -9 of ${service.service}`,
    breaks: service.name,
    lasts: [0, 1_000],
    async strike() {
      await service.kill();
      return () => service.start();
    },
  };
}

/**
 * For how long a process sleeps. After more than a lease others have done its work, and it goes on as if
 * nothing had been.
 */
const awhile: Pick<Fault, 'name' | 'lasts'> = { name: '', lasts: [500, 5_000] };
const longerThanALease: typeof awhile = { name: ' for 31 s', lasts: [31_000, 33_000] };

function paused(service: ServiceProcess, { name, lasts }: typeof awhile): Fault {
  return {
    name: `SIGSTOP of ${service.service}${name}`,
    breaks: service.name,
    lasts,
    async strike() {
      service.pause();
      return async () => service.resume();
    },
  };
}

/** With a second replica nobody notices. */
function restarted(service: ServiceProcess, services: readonly ServiceProcess[]): Fault {
  const replicas = services.filter((each) => each.service === service.service).length;
  return {
    name: `SIGTERM of ${service.service}`,
    breaks: service.name,
    lasts: atOnce,
    ...(replicas > 1 && { promised: promisedOfReplicas }),
    async strike() {
      await service.stop();
      return () => service.start();
    },
  };
}

function shifted(service: ServiceProcess, shiftMs: number): Fault {
  const minutes = shiftMs / 60_000;
  return {
    name: `clock of ${service.service} ${minutes > 0 ? '+' : '−'}${Math.abs(minutes)} min`,
    breaks: service.name,
    lasts: [2_000, 5_000],
    async strike() {
      await service.stop();
      await service.start({ shiftMs });
      return async () => {
        await service.stop();
        await service.start();
      };
    },
  };
}
