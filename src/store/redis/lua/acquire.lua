--[[
Takes the lease of a filter. The lease names the server that gave it: one of another server, or of an earlier run of it, counts for nothing.

KEYS[1]  lease
ARGV[1]  token of the caller
ARGV[2]  life of the lease, in milliseconds
ARGV[3..] tokens that the caller has had and does not hold any more: such a lease is replaced

Reply: { 'TAKEN', lease } the caller holds the lease: this text, which every step of its build shows
       { 'HELD' }         another process holds it
]]
local info = redis.pcall('INFO', 'server')
-- '' when the user may not ask: then the lease names no server.
local server = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local lease = redis.call('GET', KEYS[1])
if lease then
  local holder, givenBy = string.match(lease, '^([^@]*)@?(.*)$')
  local isOfAnother = givenBy ~= '' and server ~= '' and givenBy ~= server
  -- A command that the client sent again after a broken connection has been carried out already.
  if holder == ARGV[1] and not isOfAnother then return { 'TAKEN', lease } end
  local isGivenUp = false
  for i = 3, #ARGV do
    isGivenUp = isGivenUp or ARGV[i] == holder
  end
  if not isOfAnother and not isGivenUp then return { 'HELD' } end
end
lease = server == '' and ARGV[1] or ARGV[1] .. '@' .. server
redis.call('SET', KEYS[1], lease, 'PX', ARGV[2])
return { 'TAKEN', lease }
