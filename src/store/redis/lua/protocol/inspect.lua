--[[
Tries every command that the other scripts need on a key of its own, and asks the server for its setup.

KEYS[1]  probe string
KEYS[2]  a second name for it
KEYS[3]  probe hash
ARGV[1]  life of the probes, in milliseconds, should removing them be forbidden

Reply: { refusals, text of INFO memory and INFO persistence }
]]
local refusals = {}
local function try(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then refusals[#refusals + 1] = command .. ': ' .. reply.err end
end
try('SET', KEYS[1], 'probe', 'NX', 'PX', ARGV[1])
try('APPEND', KEYS[1], 'x')
try('SETRANGE', KEYS[1], 0, 'x')
try('GET', KEYS[1])
try('GETRANGE', KEYS[1], 0, 3)
try('STRLEN', KEYS[1])
try('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[1])
try('PEXPIRE', KEYS[1], ARGV[1])
try('PERSIST', KEYS[1])
try('PEXPIRE', KEYS[1], ARGV[1])
try('EXISTS', KEYS[1])
try('TOUCH', KEYS[1])
try('PTTL', KEYS[1])
try('TYPE', KEYS[1])
try('RENAME', KEYS[1], KEYS[2])
try('UNLINK', KEYS[2])
try('HSET', KEYS[3], 'count', 0)
try('HGET', KEYS[3], 'count')
try('HMGET', KEYS[3], 'count')
try('HGETALL', KEYS[3])
try('HINCRBY', KEYS[3], 'count', 1)
try('HDEL', KEYS[3], 'other')
try('PEXPIRE', KEYS[3], ARGV[1])
try('DEL', KEYS[1], KEYS[3])
try('TIME')
local info = ''
for _, section in ipairs({ 'server', 'memory', 'persistence' }) do
  local reply = redis.pcall('INFO', section)
  if type(reply) == 'string' then
    info = info .. reply
  else
    refusals[#refusals + 1] = 'INFO: ' .. reply.err
    break
  end
end
return { refusals, info }
