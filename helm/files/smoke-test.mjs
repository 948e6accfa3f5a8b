// `helm test`: every service is ready and answers on its public port. SERVICES has hosts by service, as JSON.
const answers = {
  auth: ['/user', 401],
  forms: ['/system/config', 200],
  transactions: ['/records', 401],
  peers: ['/.well-known/accord', 200],
  webhooks: ['/webhooks', 401],
};
const checks = Object.entries(JSON.parse(process.env.SERVICES)).flatMap(([service, host]) => {
  const [path, status] = answers[service] ?? ['/', 404];
  return [
    [`http://${host}:8081/readyz`, 200],
    [`http://${host}:8080${path}`, status],
  ];
});
for (const [url, expected] of checks) {
  const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
    ({ status }) => status,
    ({ cause, message }) => cause?.code ?? message,
  );
  if (answer !== expected) process.exitCode = 1;
  console.log(`${answer === expected ? 'ok' : 'FAILED'}: ${url} answers ${answer}, expected ${expected}`);
}
