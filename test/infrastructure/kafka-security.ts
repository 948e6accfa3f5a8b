/** What a broker demands of its clients: TLS with a certificate, and a password (SCRAM-SHA-512). */
export interface KafkaDemands {
  /** Of the broker, as PEM; good for `localhost`. */
  certificate: { cert: string; key: string };
  /** The certificate that clients must present. */
  clientCertificate: string;
  user: string;
  password: string;
}

/** Arguments with which the data folder is formatted, so that the user exists at the first start. */
export function scramUser({ user, password }: KafkaDemands): string[] {
  return ['--add-scram', `SCRAM-SHA-512=[name=${user},password=${password}]`];
}

/**
 * Replaces the plain listener of a broker by a secured one. The broker keeps a plain one for itself.
 * @param plain the properties of a broker without demands; of two lines with one name the last one counts.
 */
export function securedProperties(
  plain: string,
  { port, plainPort, demands }: { port: number; plainPort: number; demands: KafkaDemands },
): string {
  const controller = /CONTROLLER:\/\/[\d.:]+/.exec(plain)?.[0];
  const { certificate, clientCertificate } = demands;
  const secured = {
    listeners: `PLAINTEXT://127.0.0.1:${plainPort},SASL_SSL://127.0.0.1:${port},${controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${plainPort},SASL_SSL://localhost:${port}`,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL',
    'inter.broker.listener.name': 'PLAINTEXT',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-512',
    'listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config':
      'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    // Without the name of the listener Kafka ignores it where SASL is used.
    'listener.name.sasl_ssl.ssl.client.auth': 'required',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.certificate.chain': certificate.cert,
    'ssl.keystore.key': certificate.key,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.certificates': clientCertificate,
  };
  const lines = Object.entries(secured).map(([name, value]) => `${name}=${value.replaceAll('\n', '\\n')}`);
  return `${plain}${lines.join('\n')}\n`;
}
