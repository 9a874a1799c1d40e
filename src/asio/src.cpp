// The one unit in which Asio's own code is compiled (BOOST_ASIO_SEPARATE_COMPILATION): it keeps the
// other units that use it at a fraction of the build time.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
