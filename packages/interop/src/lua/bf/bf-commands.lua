--[[
Finds out which commands the server has, and lets the caller run. Nothing is written.

KEYS[1]  a key that is not there
ARGV     names of commands

Reply: for each command, the error that it gave; '' when there was none
]]
-- What has no effect on a key that is not there, and is an error where it could have one.
local arguments = {
  ['BF.MEXISTS'] = { 'probe' },
  ['BF.INSERT'] = { 'NOCREATE', 'ITEMS', 'probe' },
  ['BF.RESERVE'] = { 'no error rate', '1' },
  ['BF.INFO'] = {},
  ['BF.LOADCHUNK'] = { '2', 'probe' },
}
local errors = {}
for i, command in ipairs(ARGV) do
  local reply = redis.pcall(command, KEYS[1], unpack(arguments[command]))
  errors[i] = type(reply) == 'table' and reply.err or ''
end
return errors
