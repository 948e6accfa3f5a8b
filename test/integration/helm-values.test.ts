import { describe, expect, it } from 'vitest';
import { openChart, readManifests } from '../support/helm/chart.ts';
import { environmentOf } from '../support/helm/settings-of.ts';

const chart = await openChart();

/** A wrong value as `helm --set-json` takes it, and the part that the message names. */
const wrong: [string, string][] = [
  ['baseUrl="consent.example.org"', '/baseUrl'],
  ['baseUrl="https://consent.example.org/accord"', '/baseUrl'],
  ['baseURL="https://consent.example.org"', 'baseURL'],
  ['instance.language="english language"', '/instance/language'],
  ['instance.name=7', '/instance/name'],
  ['instance.timezone="UTC"', 'timezone'],
  ['image.tag="latest"', '/image/tag'],
  ['image.tag=1.0', '/image/tag'],
  ['image.digest="sha256:abc"', '/image/digest'],
  ['image.pullPolicy="always"', '/image/pullPolicy'],
  ['imagePullSecrets=["registry"]', '/imagePullSecrets/0'],
  ['database.port="5432"', '/database/port'],
  ['database.host="postgresql://db:5432"', '/database/host'],
  ['database.host="db:5432"', '/database/host'],
  ['database.password="hunter2"', 'password'],
  ['database.owner.existingSecret="Upper_Case"', '/database/owner/existingSecret'],
  ['database.tls=false', '/database/tls'],
  ['database.tls.mode="require"', 'mode'],
  ['kafka.brokers="kafka:9092"', '/kafka/brokers'],
  ['kafka.brokers=["kafka"]', '/kafka/brokers/0'],
  ['kafka.tls.enabled="yes"', '/kafka/tls/enabled'],
  ['kafka.sasl.mechanism="PLAIN"', '/kafka/sasl/mechanism'],
  ['kafka.sasl.password="hunter2"', 'password'],
  ['redis.url="redis://redis"', 'url'],
  ['redis.host="redis:6379"', '/redis/host'],
  ['redis.port=0', '/redis/port'],
  ['redis.user="a b"', '/redis/user'],
  ['oidc.issuer="login.example.org"', '/oidc/issuer'],
  ['mail.url="smtp://mail"', 'url'],
  ['mail.port=70000', '/mail/port'],
  ['tracing.endpoint="collector:4318"', '/tracing/endpoint'],
  ['tracing.endpoint="http://user:hunter2@collector:4318"', '/tracing/endpoint'],
  ['tracing.ratio=10', '/tracing/ratio'],
  ['tracing.headers="Authorization=Bearer%20hunter2"', '/tracing/headers'],
  ['corsOrigins=["https://shop.example.org/path"]', '/corsOrigins/0'],
  ['trustedProxies=["10.0.0.1"]', '/trustedProxies/0'],
  ['outboundAllowedNetworks="10.0.0.0/8"', '/outboundAllowedNetworks'],
  ['logLevel="debug"', '/logLevel'],
  ['auditRetention="2 years"', '/auditRetention'],
  ['secrets.from={"key-pepper":{"key":"pepper"}}', 'name'],
  ['topics.create="false"', '/topics/create'],
  ['topics.refill="yes"', '/topics/refill'],
  ['router.kind="Gateway"', '/router/kind'],
  ['router.gateways=[{"namespace":"gateways"}]', 'name'],
  ['router.gateways=[{"name":"public","nameSpace":"gateways"}]', 'nameSpace'],
  ['networkPolicy.peers.postgres=[]', 'postgres'],
  ['networkPolicy.peers.router={"ipBlock":{}}', '/networkPolicy/peers/router'],
  ['networkPolicy.ports.dns=[]', '/networkPolicy/ports/dns'],
  ['networkPolicy.ports.apiServer=["https"]', '/networkPolicy/ports/apiServer/0'],
  ['metrics.serviceMonitor.interval="30"', '/metrics/serviceMonitor/interval'],
  ['defaults.replicas="2"', '/defaults/replicas'],
  ['defaults.env={"rate-limits":"off"}', 'rate-limits'],
  ['defaults.resources={"memory":"1Gi"}', 'memory'],
  ['defaults.resources.limits={"memroy":"1Gi"}', 'memroy'],
  ['services.forms.resources.requests={"memory":"512MB"}', '/services/forms/resources/requests/memory'],
  ['services.auth={"replica":3}', 'replica'],
  ['services={"forms":[]}', '/services/forms'],
  ['services.auth.autoscaling.minReplicas=0', '/services/auth/autoscaling/minReplicas'],
  ['jobs.timeout=1', '/jobs/timeout'],
];

/** What Helm says when it refuses values. */
async function messageFor(...more: string[]): Promise<string> {
  const failed = chart?.render('minimal.yaml', ...more);
  return (await failed?.then(
    () => 'no fault',
    ({ stderr }: { stderr: string }) => stderr,
  )) as string;
}

describe.skipIf(!chart)('values', () => {
  it.concurrent.each(wrong)('%s is refused, and named', async (value, named) => {
    const message = await messageFor('--set-json', value);
    expect(message).toContain("values don't meet the specifications of the schema");
    expect(message).toContain(`'${named}'`);
  });

  it.concurrent.each([
    ['baseUrl=', 'Set baseUrl to the public address of this instance'],
    ['database.host=', 'Set database.host to the host of PostgreSQL'],
    ['database.owner.existingSecret=', 'Set database.owner.existingSecret to the Secret with the password'],
    ['kafka.brokers=null', 'Set kafka.brokers to the brokers'],
    ['kafka.sasl.mechanism=SCRAM-SHA-512', 'Set kafka.sasl.user, because kafka.sasl.mechanism is set.'],
    ['kafka.sasl.user=accord', 'Set kafka.sasl.mechanism to SCRAM-SHA-256 or SCRAM-SHA-512, because'],
    ['redis.host=', 'Set redis.host to the host of Redis or Valkey'],
    ['services.form.replicas=3', 'services.form is no service; the services are auth, console, forms, peers'],
    ['secrets.from.api-key.name=other', 'secrets.from.api-key is no entry of the Secret; the entries are'],
    ['test.clientId=helm-test', 'Set test.existingSecret to the Secret with the secret of test.clientId.'],
    ['database.tls.enabled=false,database.tls.ca.existingSecret=ca', 'Set database.tls.enabled to true'],
    ['kafka.tls.enabled=false,kafka.tls.clientSecret=client', 'Set kafka.tls.enabled to true, because'],
    ['redis.tls.enabled=false,redis.tls.ca.existingSecret=ca', 'Set redis.tls.enabled to true, because'],
    [
      'services.forms.autoscaling.enabled=true,services.forms.autoscaling.minReplicas=9',
      'The autoscaling of forms has minReplicas 9, more than maxReplicas 6.',
    ],
    ['metrics.serviceMonitor.enabled=true', 'Set networkPolicy.peers.monitoring to the pods of Prometheus'],
    ['metrics.prometheusRule.enabled=true', 'Set metrics.prometheusRule.runbookUrl to the address below'],
    ['router.kind=HTTPRoute', 'Set router.gateways to the Gateways of the HTTPRoute'],
  ])('%s is refused with a sentence that says what to do', async (value, sentence) => {
    expect(await messageFor('--set', value)).toContain(sentence);
  });

  it('allow a ServiceMonitor without network policies, and with a named Prometheus', async () => {
    const monitor = 'metrics.serviceMonitor.enabled=true';
    for (const more of ['networkPolicy.enabled=false', 'networkPolicy.peers.monitoring[0].podSelector.a=b'])
      expect(await messageFor('--set', `${monitor},${more}`)).toBe('no fault');
  });

  it('reach a container as they were written, also large numbers', async () => {
    const values = { MAX_QUEUE_WAIT: 1_000_000, EXPIRY_NOTICE: 30, RATIO: 0.5, CONSOLE: false, TEXT: '1e6' };
    const more = [
      ['--set-json', `defaults.env=${JSON.stringify(values)}`],
      ['--set-json', 'jobs.timeout=1000000'],
    ];
    const manifests = readManifests((await chart?.render('minimal.yaml', ...more.flat())) ?? '');
    const written = Object.entries(values).map(([name, value]) => [name, String(value)]);
    expect(environmentOf(manifests, 'forms')).toMatchObject(Object.fromEntries(written));
    const deadlines = manifests.filter(({ kind }) => kind === 'Job').map(({ spec }) => spec);
    expect(new Set(deadlines.map(({ activeDeadlineSeconds }) => activeDeadlineSeconds))).toEqual(
      new Set([1_000_000]),
    );
  });
});
