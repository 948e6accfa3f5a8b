import { describe, expect, it } from 'vitest';
import { StartupError } from '#lib/errors/fail.ts';
import { readAccountArguments } from '../../services/auth/commands/accounts.ts';
import { readClientArguments } from '../../services/auth/commands/clients.ts';

describe('invalid arguments print the usage', () => {
  it.each<[string[], RegExp]>([
    [[], /^Usage:/],
    [['list', 'jim'], /^Usage:/],
    [['promote', 'jim'], /^Usage:/],
    [['add'], /^Usage:/],
    [['add', 'jim', 'a password', '--role', 'user'], /^Usage:/],
    [['add', 'jim'], /^--role must be admin, operator, clerk, author, auditor, technician or user\./],
    [['add', 'jim', '--role', 'key'], /^--role must be/],
    [['add', 'jim', '--rule', 'admin'], /Unknown option '--rule'/],
  ])('account %j', (args, reason) => {
    expect(() => readAccountArguments(args)).toThrow(StartupError);
    expect(() => readAccountArguments(args)).toThrow(reason);
  });

  it.each<[string[], RegExp]>([
    [[], /^Usage:/],
    [['add', 'robot', 'secret', '--role', 'user'], /^Usage:/],
    [['add', 'robot', '--role', 'root'], /^--role must be/],
    [['add', 'robot', '--secret', 'x'], /Unknown option '--secret'/],
  ])('client %j', (args, reason) => {
    expect(() => readClientArguments(args)).toThrow(StartupError);
    expect(() => readClientArguments(args)).toThrow(reason);
  });
});
