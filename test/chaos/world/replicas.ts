import { isReady, type RoutedReplica } from '../../support/network/prefix-router.ts';
import { choosePorts } from './choose-ports.ts';
import { createServiceProcess, type ServiceProcess } from './service-process.ts';

/** A replica of a service, and where it is. */
export interface Replica extends RoutedReplica {
  process: ServiceProcess;
}

/** How the services of a world are run. */
export interface Fleet {
  bug?: string | undefined;
  environment: Record<string, string>;
  /** How many of each service. */
  counts: Readonly<Record<string, number>>;
  logFolder?: string;
}

/** Makes the processes of all services, each of which knows where the others are; nothing is started yet. */
export async function createReplicas({ bug, environment, counts, logFolder }: Fleet): Promise<Replica[]> {
  const names = Object.entries(counts).flatMap(([service, count]) =>
    Array.from({ length: count }, (_, index) => ({ service, number: index + 1 })),
  );
  const ports = await choosePorts(2 * names.length);
  const places = names.map((name, index) => ({
    ...name,
    port: ports[2 * index] as number,
    internalPort: ports[2 * index + 1] as number,
  }));
  const neighbours = Object.keys(counts).map((service): [string, string] => [
    `${service.toUpperCase()}_INTERNAL_URL`,
    places
      .filter((place) => place.service === service)
      .map(({ internalPort }) => `http://127.0.0.1:${internalPort}`)
      .join(),
  ]);
  return places.map(({ service, number, ...place }) => ({
    ...place,
    process: createServiceProcess({
      ...{ name: `${service} ${number}`, service, bug, program: `services/${service}/main.ts` },
      environment: {
        ...environment,
        ...Object.fromEntries(neighbours),
        PORT: String(place.port),
        INTERNAL_PORT: String(place.internalPort),
      },
      isReady: () => isReady(place),
      logFolder,
    }),
  }));
}
